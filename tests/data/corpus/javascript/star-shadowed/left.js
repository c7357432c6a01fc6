export const name = "left", more = 1
export default "never"
