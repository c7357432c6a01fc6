export const name = "right"
