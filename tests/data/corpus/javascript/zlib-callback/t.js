import { gzip } from "node:zlib"
export default { name: "t", transform: () => new Promise((done) => gzip("x", () => done([{ id: "x" }]))) }
