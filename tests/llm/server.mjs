// A llama.cpp model behind OpenAI's chat protocol, on loopback, for `tests/llm`.
//
//   node server.mjs MODULES MODEL
//
// In: the folder in which `npm` installed node-llama-cpp, and a GGUF file. Out: a line with the
// port on stdout, then completions; `response_format` of type json_schema becomes a grammar.

import {createServer} from "node:http";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [modules, modelPath] = process.argv.slice(2);
const entry = resolve(modules, "node_modules/node-llama-cpp/dist/index.js");
const {getLlama, LlamaChatSession} = await import(pathToFileURL(entry));

const llama = await getLlama({gpu: false, build: "never", maxThreads: 1, logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: 8192, threads: 1});
const sequence = context.getSequence();
let last = Promise.resolve(); // one at a time

async function completed(body) {
    await sequence.clearHistory();
    const said = (role) => body.messages.filter((m) => m.role === role).map((m) => m.content);
    const session = new LlamaChatSession({
        contextSequence: sequence,
        systemPrompt: said("system").join("\n"),
        autoDisposeSequence: false,
    });
    const schema = body.response_format?.json_schema?.schema;
    const grammar = schema && await llama.createGrammarForJsonSchema(schema);
    const prompt = said("user").join("\n");
    const {responseText, stopReason} = await session.promptWithMeta(prompt, {
        grammar,
        temperature: 0,
        maxTokens: body.max_tokens ?? body.max_completion_tokens ?? 256,
    });
    session.dispose();
    const count = (text) => model.tokenize(text).length;
    return {
        id: "chat-1",
        object: "chat.completion",
        created: 0,
        model: body.model,
        choices: [{
            index: 0,
            finish_reason: stopReason === "maxTokens" ? "length" : "stop",
            message: {role: "assistant", content: responseText},
        }],
        usage: {prompt_tokens: count(prompt), completion_tokens: count(responseText)},
    };
}

const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
        const body = JSON.parse(Buffer.concat(parts).toString());
        last = last.then(() => completed(body)).then(
            (value) => [200, value],
            (error) => [500, {error: {message: String(error)}}],
        ).then(([status, value]) => {
            response.writeHead(status, {"content-type": "application/json"});
            response.end(JSON.stringify(value));
        });
    });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
