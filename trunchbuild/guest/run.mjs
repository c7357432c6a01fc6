// Runs JavaScript of strangers inside the sandbox. One process, one request.
//
// Standard input: line 1 is the request (JSON); for `transform` the sources' bytes follow, one after the other.
// Standard output: line 1 is a header {status, ..., bytes, modules}; `bytes` is the size of what follows. Modes:
//   transform  header {name, count}, then one case a line
//   load       one line {value, functions} per graph
//   strip      one line: path -> {text} or {message, line, column}
//   parse      one line: {nodes} of one module's tree, or {message, line, column}, or {message} where it nests too deeply
//   versions   header {versions}
//   evaluate   a conversation by lines on a pipe, see evaluate.mjs
// `status` of a failure is refused, threw, invalid, limit, syntax or link; then there are `message` and `place`, or a
// list `faults` of such.
import fs from "node:fs";

let pending = Buffer.alloc(0);

/** A part of standard input where it is a file (read by position: two runs may share the open file). */
function readPart(from, size) {
  const buffer = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const count = fs.readSync(0, buffer, filled, size - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** The first line of standard input, a file, and where the next begins. */
function readHead() {
  for (let size = 1 << 16; ; size *= 4) {
    const head = readPart(0, size);
    const end = head.indexOf(10);
    if (end >= 0 || head.length < size) return { line: head.toString("utf8", 0, end < 0 ? head.length : end), next: end + 1 };
  }
}

/** Standard input piece by piece where it is a pipe; an empty result is the end. */
function readPipe() {
  const buffer = Buffer.allocUnsafe(1 << 16);
  for (;;) {
    try {
      return buffer.subarray(0, fs.readSync(0, buffer, 0, buffer.length, null));
    } catch (error) {
      if (error.code === "EOF") return buffer.subarray(0, 0);
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** The next line of standard input without its LF, or null at the end. */
function readLine() {
  const parts = [];
  for (;;) {
    const end = pending.indexOf(10);
    if (end >= 0) {
      parts.push(pending.subarray(0, end));
      pending = pending.subarray(end + 1);
      return Buffer.concat(parts).toString("utf8");
    }
    parts.push(pending);
    pending = readPipe();
    if (pending.length === 0) return null;
  }
}

function write(...pieces) {
  for (const piece of pieces) {
    const buffer = typeof piece === "string" ? Buffer.from(piece, "utf8") : piece;
    for (let done = 0; done < buffer.length; ) {
      try {
        done += fs.writeSync(1, buffer, done);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
  }
}

/** The whole answer: header, then the pieces. */
function reply(fields, modules = [], pieces = []) {
  const buffers = pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece, "utf8") : piece));
  const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  write(`${JSON.stringify({ ...fields, bytes, modules })}\n`, ...buffers);
}

async function transform(request, next) {
  const { runGraph } = await import("./realm.mjs");
  const pieces = [];
  const prepare = ({ driver }) => {
    // One after the other: the bytes of all and their texts need not be there at once.
    let from = next;
    for (const { name, path, sha256, bytes } of request.sources) {
      driver.source(name, path, sha256, readPart(from, bytes).toString("utf8"));
      from += bytes;
    }
  };
  // Encoded at once: a string of the realm and its bytes need not both stay.
  const emit = (text) => pieces.push(Buffer.from(text, "utf8"));
  const outcome = await runGraph(request.graph, "transform", emit, prepare, request.stackTraceLimit);
  reply(outcome, Object.keys(request.graph.modules), outcome.status === "ok" ? pieces : []);
}

async function load(request) {
  const { runGraph } = await import("./realm.mjs");
  const pieces = [];
  const modules = request.graphs.flatMap((graph) => Object.keys(graph.modules));
  for (const graph of request.graphs) {
    const outcome = await runGraph(graph, "load", (text) => pieces.push(text), () => {}, request.stackTraceLimit);
    if (outcome.status !== "ok") return reply(outcome, modules);
  }
  return reply({ status: "ok" }, modules, pieces);
}

async function main() {
  if (!fs.fstatSync(0).isFile()) {
    const { converse } = await import("./evaluate.mjs");
    return converse(readLine, (text) => write(`${text}\n`));
  }
  const { line, next } = readHead();
  const request = JSON.parse(line);
  switch (request.mode) {
    case "transform": return transform(request, next);
    case "load": return load(request);
    case "strip": {
      const { strip } = await import("./strip.mjs");
      return reply({ status: "ok" }, [], [`${JSON.stringify(strip(request.sources))}\n`]);
    }
    case "parse": {
      const { syntaxTree } = await import("./strip.mjs");
      return reply({ status: "ok" }, [], [`${JSON.stringify(syntaxTree(request.text))}\n`]);
    }
    case "versions": return reply({ status: "ok", versions: process.versions });
    default: throw new Error(`unknown mode ${request.mode}`);
  }
}

await main();
