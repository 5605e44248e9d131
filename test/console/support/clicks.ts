import type { Page } from "./browser.ts"

export const clicksOf = (page: Page) => page.evaluate(() => document.documentElement.dataset.clicks)
/** Counts every click of the mouse from here on. Keys that press a button have no detail. */
export const countClicks = (page: Page) =>
  page.evaluate(() => {
    const { dataset } = document.documentElement
    dataset.clicks = "0"
    const count = ({ detail }: MouseEvent) => {
      if (detail > 0) dataset.clicks = String(Number(dataset.clicks) + 1)
    }
    document.addEventListener("click", count, true)
  })
