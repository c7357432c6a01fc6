import fs = require("fs")
export default { name: "t", transform: () => [{ id: String(fs) }] }
