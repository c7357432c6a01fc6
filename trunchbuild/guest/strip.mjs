// TypeScript to JavaScript with the author's positions, and syntax trees for what the host's own parser cannot read.
import { createRequire, stripTypeScriptTypes } from "node:module";

const TOO_DEEP = "nested too deeply to be read";

/** The place that Node puts above the message: `:LINE`, the lines around, and carets under the column. */
function shownPlace(error) {
  const [first, ...rest] = String(error.stack).split("\n");
  const line = /:(\d+)$/.exec(first);
  const column = /^( *)\^+$/.exec(rest.find((text) => /^ *\^+$/.test(text)) ?? "");
  return { line: line ? Number(line[1]) : 1, column: column ? column[1].length + 1 : null };
}

/** Line and column from 1, the column in characters; `again` makes the error of another text. */
function placeOf(error, text, again) {
  const { line, column } = shownPlace(error);
  const lines = text.split(/\r\n|\r|\n/);
  const written = lines[line - 1] ?? "";
  // Without carets the end of the text is meant.
  if (column === null) return { line, column: [...written].length + 1 };
  if (/^[ -~]*$/.test(written) && !/\r(?!\n)/.test(text)) return { line, column };
  // Carets stand under what a screen shows: four columns for a tab, two for a wide character, none for an accent.
  lines[line - 1] = Array.from(written, (c) => (/\s/.test(c) ? " " : c > "~" || c < " " ? "x" : c)).join("");
  const other = again(lines.join("\n"));
  const shown = other && other.message === error.message ? shownPlace(other) : null;
  return { line, column: shown?.line === line && shown.column !== null ? shown.column : Math.min(column, [...written].length + 1) };
}

/** The error that stripping a text gives, or null. */
function failureOf(text) {
  try {
    stripTypeScriptTypes(text, { mode: "transform" });
    return null;
  } catch (error) {
    return error;
  }
}

function stripOne(path, text) {
  try {
    try {
      return { text: stripTypeScriptTypes(text, { mode: "strip" }) };
    } catch (error) {
      if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw error;
      // Enums, namespaces, parameter properties have meaning at run time; a source map keeps the author's positions.
      return { text: stripTypeScriptTypes(text, { mode: "transform", sourceMap: true, sourceUrl: path }) };
    }
  } catch (error) {
    // The compiler of types runs in WebAssembly, whose stack ends in a trap.
    const isTrap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError || /memory access out of bounds|call stack/.test(error.message);
    return isTrap ? { message: TOO_DEEP } : { message: String(error.message), ...placeOf(error, text, failureOf) };
  }
}

export function strip(sources) {
  const result = { __proto__: null };
  for (const [path, text] of Object.entries(sources)) result[path] = stripOne(path, text);
  return result;
}

/** The objects and lists of a tree one after the other, each member that is one as `{at: index}`; BigInts as text. */
function listed(tree) {
  const nodes = [];
  const add = (value) => ({ at: nodes.push(value) - 1 });
  const member = (value) => (typeof value === "bigint" ? String(value) : value instanceof RegExp ? null : typeof value === "object" && value !== null ? add(value) : value);
  add(tree);
  // What is added while this runs is reached too.
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    nodes[i] = Array.isArray(node) ? node.map(member) : Object.fromEntries(Object.entries(node).map(([key, value]) => [key, member(value)]));
  }
  return nodes;
}

/** The tree in ESTree form by the parser that Node ships, or what is wrong with the text; no offset means: too deep. */
export function syntaxTree(text) {
  const acorn = createRequire(import.meta.url)("internal/deps/acorn/acorn/dist/acorn");
  try {
    return { nodes: listed(acorn.parse(text, { ecmaVersion: "latest", sourceType: "module" })) };
  } catch (error) {
    if (error instanceof RangeError || error.message.startsWith("Not enough stack space")) return { message: TOO_DEEP };
    if (!error.loc) throw error;
    return { message: error.message.replace(/ \(\d+:\d+\)$/, ""), offset: error.pos };
  }
}
