// Follows a pump, and reconnects after its cable was unplugged: follow-pump ENDPOINT
import DeviceKit
import Glibc
import LineProtocol
import Transports

let endpoint = try Endpoint(CommandLine.arguments.last ?? "")
let link = try await LinkSchemes.families.open(endpoint)
let monitor = try await PumpMonitor(over: link, Reconnector(endpoint, link), interval: .seconds(1))
for try await update in monitor {
    switch update.event {
    case .lost: print("lost; waiting for the pump")
    case .back(let before): print("back: it was \(before.power.rawValue) and is \(update.state.power.rawValue)")
    case .alarm(let alarm): print("the skin sensor is unreliable: \(alarm.cause)")
    case .unanswered: print("no answer: the state is unknown")
    default: print(update.state.power.rawValue)
    }
    fflush(nil)
}
