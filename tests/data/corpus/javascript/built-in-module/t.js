import { createRequire } from "node:module"
export default { name: "t", transform: () => [{ id: createRequire("/")("os").hostname() }] }
