import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { LabelPage } from "./label/label-page.tsx";
import { chooseApi } from "./shared/api-client.ts";
import { startTheme } from "./shared/theme.ts";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/pages.css";
import "./styles/rollout.css";
import "./styles/label.css";
import { errorMessage } from "../../base/errors.ts";

startTheme();
// The cookie replaces the token of the printed address, which would otherwise be in every copied link and screenshot.
const address = new URL(window.location.href);
if (address.searchParams.has("token")) {
  address.searchParams.delete("token");
  window.history.replaceState(window.history.state, "", address);
}
const isForLabels = document.querySelector('meta[name="gym-viewer"]')?.getAttribute("content") === "label";
const element = document.getElementById("root");
if (element) {
  const root = createRoot(element);
  try {
    await chooseApi();
    root.render(<StrictMode>{isForLabels ? <LabelPage /> : <App />}</StrictMode>);
  } catch (error) {
    root.render(
      <p className="problem-box" role="alert">
        {errorMessage(error)}
      </p>,
    );
  }
}
