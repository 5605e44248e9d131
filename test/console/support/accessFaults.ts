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

/** Whether the page is wider than the screen. */
const sideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

/** The faults by their rules, and whether the page scrolls sideways. */
export const accessFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  const faults = await faultsOf(page)
  return (await sideways(page)) ? [...faults, "scrolls sideways"] : faults
}
