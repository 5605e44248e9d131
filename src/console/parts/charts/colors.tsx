/** The colours of series, which can be distinguished with colour blindness, in light and dark mode. */

const COLORS = [
  "#4c6ef5",
  "#e8590c",
  "#0ca678",
  "#ae3ec9",
  "#f08c00",
  "#1098ad",
  "#e64980",
  "#74b816"
] as const
const OTHER = "#868e96"

/** The number of series with a colour of their own. */
export const MOST_SERIES = COLORS.length

/** The colour of the series at this place; all further ones share one. */
export const colorAt = (index: number): string => COLORS[index] ?? OTHER

/** Names a series of a chart in a text or a table by its colour. */
export const ColorMark = ({ index }: { readonly index: number }) => (
  <span className="color-mark" style={{ background: colorAt(index) }} aria-hidden />
)
