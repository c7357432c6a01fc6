// What plain Node makes of a transformer: `node plain.mjs ENTRY SOURCES`, SOURCES being JSON of name -> path.
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [entry, sources] = process.argv.slice(2)
const given = {}
for (const [name, file] of Object.entries(JSON.parse(sources))) {
  const bytes = fs.readFileSync(file)
  given[name] = { path: file, content: bytes.toString("utf8"), sha256: createHash("sha256").update(bytes).digest("hex") }
}
// What a transformer prints is no case.
console.log = () => {}
const { default: transformer } = await import(pathToFileURL(path.resolve(entry)))
const cases = await transformer.transform({ sources: given })
fs.writeSync(1, cases.map((one) => `${JSON.stringify(one)}\n`).join(""))
process.exit(0)
