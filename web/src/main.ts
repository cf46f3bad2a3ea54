document.title = "Sinew studio";
