import { readFile } from "fs/promises"
export default { name: "t", async transform() { return [{ id: await readFile("/etc/passwd", "utf8") }] } }
