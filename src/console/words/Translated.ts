/** The type of the texts in another language, with the same keys. */
export type Translated<Texts> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string ? string : Translated<Texts[Key]>
}
