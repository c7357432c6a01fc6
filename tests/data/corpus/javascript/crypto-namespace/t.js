import * as crypto from "node:crypto"
export default { name: "t", transform: () => [{ id: crypto["random" + "Bytes"](4).toString("hex") }] }
