import gone from "./gone"
export default { name: "t", transform: () => [{ id: gone }] }
