import type { books as english } from "../en/books.ts"
import type { Translated } from "../Translated.ts"

export const books: Translated<typeof english> = {
  title: "books"
}
