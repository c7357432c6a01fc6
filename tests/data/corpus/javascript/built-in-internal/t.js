import realm from "node:internal/bootstrap/realm"
export default { name: "t", transform: () => [{ id: typeof realm }] }
