// Comforts on top of pages that work without them: nothing here is needed to read or change anything.
(() => {
  "use strict";

  // One box that picks all rows of a list, and a count of what is picked.
  function count(form) {
    const picked = form.querySelectorAll('input[name="ids"]:checked').length;
    const all = form.querySelectorAll('input[name="ids"]').length;
    const told = form.querySelector("[data-picked]");
    const every = form.querySelector("[data-pick-all]");
    if (told) told.textContent = picked ? `${picked} picked` : "none picked";
    if (every) {
      every.checked = all > 0 && picked === all;
      every.indeterminate = picked > 0 && picked < all;
    }
  }
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form");
    if (!form) return;
    if (event.target.matches("[data-pick-all]")) {
      for (const box of form.querySelectorAll('input[name="ids"]')) box.checked = event.target.checked;
    }
    if (event.target.matches('[data-pick-all], input[name="ids"]')) count(form);
  });

  // "/" goes to the search field, as long as nobody is writing.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea, select, [contenteditable]")) return;
    const search = document.querySelector("[data-search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  });

  // Whoever leaves with something half-written is asked first.
  let written = false;
  document.addEventListener("input", (event) => {
    if (event.target.closest("form[data-guarded]")) written = true;
  });
  document.addEventListener("submit", () => { written = false; });
  window.addEventListener("beforeunload", (event) => {
    if (written) event.preventDefault();
  });

  // How much room is left in a long text.
  document.addEventListener("input", (event) => {
    const told = event.target.dataset?.counted && document.getElementById(event.target.dataset.counted);
    if (told) told.textContent = `${event.target.value.length} of ${event.target.maxLength} characters`;
  });
})();
