export const inner: string = "inner"
