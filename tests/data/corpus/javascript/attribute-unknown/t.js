import data from "./data.json" with { type: "text" }
export default { name: "t", transform: () => [{ id: data }] }
