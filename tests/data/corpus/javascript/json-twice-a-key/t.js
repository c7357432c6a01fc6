import data from "./data.json" with { type: "json" }
export default { name: "t", transform: () => [{ id: data.a }] }
