"use strict";

// Swagger UI's own layout has a second `main` and repeats the page's title.
const layout = ({ React: { createElement } }) => ({
  components: {
    Layout: ({ getComponent, specSelectors }) =>
      createElement(
        "div",
        { className: "swagger-ui" },
        createElement(getComponent("SvgAssets")),
        createElement(getComponent("errors", true)),
        createElement(getComponent("AuthorizeBtnContainer", true)),
        specSelectors.loadingStatus() === "success" && createElement(getComponent("operations", true)),
      ),
  },
});

const isContract = (row) => row.getIn(["operation", "x-contract"], false);
const DOCS_SETTINGS = {
  layout: "Layout",
  plugins: [layout],
  persistAuthorization: false,
  tryItOutEnabled: true,
  operationsSorter: (one, other) => isContract(other) - isContract(one),
};

// Swagger UI has a dark theme, but does not follow the reader's setting.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followReader = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followReader);
followReader();
