export const name = "t"
export const transform = () => [{ id: "x" }]
