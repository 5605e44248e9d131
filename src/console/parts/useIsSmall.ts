import { useMantineTheme } from "@mantine/core"
import { useMediaQuery } from "@mantine/hooks"

/** Whether the screen is small, as that of a telephone. Paper is not. */
export const useIsSmall = (): boolean => {
  const { breakpoints } = useMantineTheme()
  return useMediaQuery(`screen and (width < ${breakpoints.sm})`, false, {
    getInitialValueInEffect: false
  })
}
