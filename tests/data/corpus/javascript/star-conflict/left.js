export const name = "left"
