import { performance } from "node:perf_hooks"
export default { name: "t", transform: () => [{ id: "p", n: performance.now() > 0 }] }
