export const books = {
  title: "books"
} as const
