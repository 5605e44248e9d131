/** What Effect asks Node for when it is loaded, once. */
const ASYNC_HOOKS = "node:async_hooks"

/**
 * Loads Effect without Node's asynchronous context, which it would keep for every fiber that waits:
 * a tenth of what an order costs. Only for a process of our own, where nothing stands in that context;
 * what else needs it imports it by name, and finds it.
 */
export const withoutAsyncContext = async (load: () => Promise<unknown>): Promise<void> => {
  const { getBuiltinModule } = process
  const put = (value: (id: string) => unknown): void => {
    Object.defineProperty(process, "getBuiltinModule", {
      configurable: true,
      writable: true,
      value
    })
  }
  put((id) => (id === ASYNC_HOOKS ? undefined : getBuiltinModule(id)))
  try {
    await load()
  } finally {
    put(getBuiltinModule)
  }
}
