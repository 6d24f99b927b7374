// Fetches the log of a storm sensor into a file: fetch-log ENDPOINT FILE
import DeviceKit
import Glibc
import LineProtocol
import Transports

let (endpoint, path) = (CommandLine.arguments.dropLast().last ?? "", CommandLine.arguments.last ?? "")
let link = try await LinkSchemes.families.open(Endpoint(endpoint))
do {
    let log = LogDownload(over: link, to: try ReplacedFile(path: path))
    let report = try await log.run()
    print("\(report.byteCount) bytes in \(path)")
} catch let error as LogDownloadError {
    // FILE is unchanged. The part of the log received so far is in a file next to FILE.
    print(error)
    exit(1)
}
