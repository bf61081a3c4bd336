"""Words that carry no claim of their own, in seven languages; a closed list.

Polarity, quantity and comparison words are not among them: "not", "only", "most", "all" change
what is said.
"""

from __future__ import annotations

__all__ = ["FUNCTION_WORDS"]

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those there here it its it's they them their theirs he him his she
    her hers we us our ours you your yours i me my mine who whom whose which what when where why
    how is are was were be been being am do does did done doing has have had having will would
    shall should can could may might must and or but nor so if then than as of in on at to from
    by for with about into onto over between through during since while because up
    down out off again further also too very just s t re ve ll d m one ones via per such own
    same some any each other another both although though however
    please get gets got let lets der das den dem des ein eine einen einem einer eines und
    oder aber ist sind war waren wird werden wurde wurden hat haben hatte er sie es wir ihr ihre
    seine sein mit von zu zum zur im in am an auf aus bei für um als wie auch dass sich nach vor
    über unter durch wenn el la los las un una unos unas y o u pero es son era eran fue
    fueron ser está están ha han había de del al en con por para como que se su sus lo le les
    este esta estos estas también si más le les des du au aux et ou mais est sont était étaient
    être a ont avait dans avec par ce cet cette ces il elle ils elles nous vous leur
    leurs qui que dont où ne se sa ses en il lo gli i uno e ed ma è sono era erano ha hanno
    di del della dei delle da dal con per su che si anche come o os as um uma e mas é são foi
    foram tem têm do da dos das em no na nos nas com para por que se seu sua também het een en
    maar is zijn was waren wordt worden heeft hebben van te op met voor door als ook dat
    zich naar yes ja sí oui sì sim
    e.g i.e approx cf viz z.b d.h bzw p.ex p.ej
    """.split()
) - {"no"}
