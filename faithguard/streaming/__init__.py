"""A model's stream -> the same stream, of which each sentence, item or row comes out once it holds.

In: the pieces of text that a model writes, cut anyhow. Out: the same text in larger pieces, each a
whole sentence, list item, table row or block of code, released once its claims are supported by
what the guard has seen so far, and read with all that was released before it.

What a framework's guard does:

    course = StreamCourse(settings, exchange)         # of `Settings` whose `hold` is set
    for text in released(course, ask):                # or `async for ... in areleased(course, ask)`
        ...                                           # hand it on, in the framework's own type
    course.record                                     # what became of it; already in the sinks

- `exchange(answer)` returns the `Exchange` that the evidence seen so far makes with a text. It is
  called once for each unit, and at the end.
- `ask(again)` returns an iterator over the pieces of text (not of anything else) that the model
  writes. `again` is None at first; at another attempt (only with "regenerate", and only before
  anything was released) it is an `Again`: what to tell the model, and further evidence. Whatever
  else the model sends (usage, tool calls, ids) `ask` puts aside for its caller. What it raises is
  raised here as it is, so it is `ask` that keeps errors from quoting the answer
  (`guard.withheld`, with `course.written`).
- A blocked stream ends with the fallback's text, as a paragraph of its own if something came
  before it; `course.blocked` is true from then on. Without a fallback `UnfaithfulAnswerError` is
  raised. The report of a blocked stream is of all that was checked; `record.released` is what
  went out of that.
  A fallback that is no text is the caller's to deliver.
- Who is told of what the model writes, and does not read it, iterates over `pushed(course, piece)`
  for each piece, and over `pushed(course, None)` at the end, and does as each `Move` says.
- Close it (`close`, `aclose`) and the model's stream is closed; nothing is left running. Its
  record is of what was released until then, and says that its reader left; so does that of a
  stream whose model breaks off. Where nothing was checked yet there is none. Who iterates over
  `pushed` says so himself (`course.left`).

Every claim of a unit must be supported, whatever the policy's threshold: one bad sentence cannot
be made good by those to come. A unit that does not end (`Hold`) fails as a verifier would; an
answer that is JSON is one unit. With "repair" a unit is corrected or left out, and the stream goes
on; the numbers of a list close up behind an item that was left out, unless a text means one of
them. A unit is read with the lead-in and the head of a table that its model wrote, and is left out
where it could not be: where what it stood under was. If no fact is left the stream is blocked.

    _leads     what leads to a unit that was left out, and may lead to the next one
    _numbering the numbers of a list's items
    _written   what the model wrote, beside what was released
    _course    what is done with each unit, without I/O
    _drivers   `released` and `pushed`, and their async twins
"""

from __future__ import annotations

from faithguard.streaming._course import Again, Move, StreamCourse
from faithguard.streaming._drivers import apushed, areleased, pushed, released

__all__ = ["Again", "Move", "StreamCourse", "apushed", "areleased", "pushed", "released"]
