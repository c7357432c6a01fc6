import { setTimeout as pause } from "node:timers/promises"
export default { name: "t", async transform() { await pause(1); return [{ id: "x" }] } }
