/** What keeps people out of a page as it stands. */
import { assert } from "@effect/vitest"
import axe from "axe-core"
import type { Page } from "./browser.ts"

declare global {
  interface Window {
    /** In the page, by its source. */
    readonly axe: typeof axe | undefined
  }
}

/** Rules and the places that break them; those that keep people out. */
const faultsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(axe.source)
  const found = await page.evaluate(() =>
    window.axe?.run(document, { resultTypes: ["violations"] })
  )
  assert.isDefined(found)
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`)
    )
}

/** Below this width lists are cards, which need no scrolling either. */
const SMALL = 768

/** What is wider than its place: the page, and on a small screen each list and card. */
const sideways = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate((small) => {
    const lists = "main :is(table, .mantine-Card-root, .mantine-ScrollArea-viewport)"
    return [
      document.documentElement,
      ...(innerWidth < small ? document.querySelectorAll(lists) : [])
    ]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, className }) => `sideways: ${tagName} ${className}`)
  }, SMALL)

/** The faults by their rules, and what scrolls sideways or is cut. */
export const accessFaults = async (page: Page): Promise<ReadonlyArray<string>> => [
  ...(await faultsOf(page)),
  ...(await sideways(page))
]
