import word from "./word.json" with { type: "json" }
import * as space from "./list.json" with { type: "json" }
import list from "./list.json" with { type: "json" }
list.push(4)
export default { name: "t", transform: () => [{ id: word, keys: Object.keys(space), same: space.default === list, list }] }
