// The button above a listing selects and copies it. `navigator.clipboard` is missing where a hall reads over http.
document.addEventListener("click", ({target}) => {
  const button = target.closest?.(".lectern-code button");
  if (!button) return;
  getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
  button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
