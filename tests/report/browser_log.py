"""What a browser said and asked for."""

import json


def errors_and_requests(driver):
    """Console messages, and addresses asked for other than the file itself."""
    said = [entry for entry in driver.get_log("browser") if entry["level"] != "DEBUG"]
    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    return said, [url for url in asked if not url.startswith(("file:", "data:", "chrome:"))]
