/** Whether a text names an item as words of its own, in any letter case. */
export function mentions(text: string, item: string): boolean {
  const words = (value: string) => ` ${value.toLowerCase().replace(/[^a-z]+/g, " ")} `
  return words(text).includes(words(item).trimEnd())
}
