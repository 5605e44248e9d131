/** What a task costs a person: presses of the mouse and of Enter. Typing costs nothing. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Browser, type OpenOptions, type Page, steps } from "./browser.ts"

const countClicks = (page: Page) =>
  page.evaluate(() => {
    const { dataset } = document.documentElement
    const count = (): void => {
      dataset.clicks = String(Number(dataset.clicks ?? "0") + 1)
      dataset.firstClick ??= String(Date.now())
    }
    document.addEventListener("mousedown", count, true)
    document.addEventListener(
      "keydown",
      ({ key }) => {
        if (key === "Enter") count()
      },
      true
    )
  })

export interface TaskResult {
  readonly task: string
  readonly clicks: number
  /** From the first click to the end. */
  readonly seconds: number
}

interface Task<R> {
  /** The number of clicks that it must take. */
  readonly clicks: number
  readonly session: NonNullable<OpenOptions["session"]>
  /** The link that begins it, whose click counts; without one it begins at the landing page. */
  readonly link?: string
  readonly take: (page: Page) => Effect.Effect<unknown, never, R>
}

/** Performs a task in a tab of its own. */
export const performTask = Effect.fnUntraced(function* <R>(
  name: string,
  { clicks, session, link, take }: Task<R>
) {
  const openedAt = Date.now()
  const page = yield* (yield* Browser).open(link ?? "/", { session })
  yield* steps(async () => {
    await page.locator("h1").first().waitFor()
    await countClicks(page)
  })
  yield* take(page)
  const endedAt = Date.now()
  const counted = yield* steps(() => page.evaluate(() => ({ ...document.documentElement.dataset })))
  const result: TaskResult = {
    task: name,
    clicks: Number(counted.clicks ?? "0") + (link === undefined ? 0 : 1),
    seconds: (endedAt - (link === undefined ? Number(counted.firstClick) : openedAt)) / 1000
  }
  assert.strictEqual(result.clicks, clicks, `clicks of: ${name}`)
  return result
})
