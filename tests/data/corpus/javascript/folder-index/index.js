export const outer = "-outer-"
