export interface Row { id: string }
export const parse = (text: string): Row | undefined => (text ? { id: text } as Row : undefined)
