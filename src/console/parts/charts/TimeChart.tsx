/**
 * A chart whose library is loaded with the first chart. Its space is reserved while the library
 * loads.
 */
import { Skeleton } from "@mantine/core"
import { lazy, Suspense } from "react"
import { useTranslation } from "react-i18next"
import type { ChartProps } from "./Chart.tsx"

const Chart = lazy(() => import("./Chart.tsx"))
const HEIGHT = 260

type Props = Omit<ChartProps, "height">

export const TimeChart = (chart: Props) => {
  const { t } = useTranslation()
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} role="status" aria-label={t("loading")} />}>
      <Chart {...chart} height={HEIGHT} />
    </Suspense>
  )
}
