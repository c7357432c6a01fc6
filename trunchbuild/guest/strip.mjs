// TypeScript to JavaScript with the author's positions, and syntax trees for what the host's own parser cannot read.
import { createRequire, stripTypeScriptTypes } from "node:module";

/** The place that Node puts above the message: `:LINE`, the lines around, and carets under the column. */
function placeOf(error) {
  const [first, ...rest] = String(error.stack).split("\n");
  const line = /:(\d+)$/.exec(first);
  const column = /^( *)\^+$/.exec(rest.find((text) => /^ *\^+$/.test(text)) ?? "");
  return { line: line ? Number(line[1]) : 1, column: column ? column[1].length + 1 : 1 };
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
    return { message: String(error.message), ...placeOf(error) };
  }
}

export function strip(sources) {
  const result = { __proto__: null };
  for (const [path, text] of Object.entries(sources)) result[path] = stripOne(path, text);
  return result;
}

/** The tree in ESTree form by the parser that Node ships; `bigint` values become text. */
export function syntaxTree(text) {
  const acorn = createRequire(import.meta.url)("internal/deps/acorn/acorn/dist/acorn");
  try {
    const tree = acorn.parse(text, { ecmaVersion: "latest", sourceType: "module" });
    return { tree: JSON.parse(JSON.stringify(tree, (_, value) => (typeof value === "bigint" ? String(value) : value))) };
  } catch (error) {
    if (!error.loc) throw error;
    return { message: error.message.replace(/ \(\d+:\d+\)$/, ""), line: error.loc.line, column: error.loc.column + 1 };
  }
}
