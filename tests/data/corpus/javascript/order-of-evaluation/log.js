export const log = []
