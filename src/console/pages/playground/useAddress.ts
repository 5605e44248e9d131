/** The selected models and the followed orders of both lanes, stored in the address. */
import { useSearch } from "wouter"
import { navigate } from "wouter/use-browser-location"

/** The names of a lane's values in the address. */
const names = {
  first: { model: "model", task: "task", usual: "usual" },
  second: { model: "compare", task: "compare_task", usual: "compare_usual" }
} as const
export type LaneName = keyof typeof names

interface LaneAddress {
  readonly model: string | null
  /** The id of the followed order. */
  readonly task: string | null
  /** The seconds that such an order usually takes; null where that is unknown. */
  readonly usual: number | null
}
type Changes = { readonly [Name in keyof LaneAddress]?: string | null }

const TASK = /^(?:vt|im)_[0-9a-f-]{36}$/

const laneOf = (params: URLSearchParams, lane: LaneName): LaneAddress => {
  const task = params.get(names[lane].task)
  const usual = Number(params.get(names[lane].usual) ?? Number.NaN)
  return {
    model: params.get(names[lane].model),
    task: task !== null && TASK.test(task) ? task : null,
    usual: Number.isFinite(usual) ? usual : null
  }
}

/** Changes the current address, since the other lane may have changed it after the last rendering. */
const put = (lane: LaneName, changes: Changes, replace: boolean): void => {
  const params = new URLSearchParams(window.location.search)
  for (const name of ["model", "task", "usual"] as const) {
    const value = changes[name]
    if (value === null) params.delete(names[lane][name])
    else if (value !== undefined) params.set(names[lane][name], value)
  }
  navigate(`${window.location.pathname}?${params}`, { replace })
}

export const useAddress = () => {
  const params = new URLSearchParams(useSearch())
  return { first: laneOf(params, "first"), second: laneOf(params, "second"), put }
}
