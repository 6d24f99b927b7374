// Reads the state of a pump once: read-pump ENDPOINT
import DeviceKit
import Glibc
import LineProtocol
import Transports

do {
    let link = try await LinkSchemes.families.open(Endpoint(CommandLine.arguments.last ?? ""))
    let pump = try await PumpSession.begin(over: link, clock: ContinuousClock())
    let status = try await pump.readStatus()
    print("pump", status.power.rawValue)
    if let percent = status.speedPercent { print("speed \(percent) %") }
    // Skip a reading that no working thermistor can give.
    if let skin = status.temperatures.skin, skin.isPlausible { print("skin \(skin.celsius) °C") }
    await pump.close()
} catch let error as LinkError {
    // Prints the error, and a hint on how to fix it, if there is one.
    print(error, error.hint ?? "")
    exit(1)
} catch let error as SessionError {
    print(error)
    exit(1)
}
