import fs from "NODE:fs"
export default { name: "t", transform: () => [{ id: typeof fs }] }
