// What the Explore panel of a report uses of Observable Plot and D3; everything else is left out of the bundle.
export { axisX, axisY, dot, gridX, gridY, plot } from "@observablehq/plot";
export { brush } from "d3-brush";
export { select } from "d3-selection";
