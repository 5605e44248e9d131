const SECOND = 1000

/**
 * The time range of a series that contains only the present hour, day or month. The gateway rounds
 * the start down to the start of the interval in the deployment's time zone, which the browser does
 * not know.
 */
export const currentSlot = (): { readonly from: string; readonly to: string } => {
  const now = Date.now()
  return { from: new Date(now).toISOString(), to: new Date(now + SECOND).toISOString() }
}
