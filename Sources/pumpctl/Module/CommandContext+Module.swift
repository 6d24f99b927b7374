import DeviceKit
import LineProtocol
import Terminal
import Transports

extension CommandContext {
    /// Runs `body` with the setup of the BLE module at the port that the options name.
    ///
    /// - Parameter dialect: The dialect of the module's AT commands; nil to detect it.
    func withModuleSetup(
        _ dialect: String?, _ body: (ModuleSetup) async throws(ModuleSetupError) -> ModuleInfo
    ) async throws -> ModuleInfo {
        let endpoint = try modulePort()
        let setup = ModuleSetup(
            dialect: dialect, rates: ModuleSetup.rates(of: endpoint), clock: clock,
            report: { [options, output] report in
                switch report {
                case .looking(let rate):
                    guard options.verbose else { return }
                    output.note("* looking for a module" + (rate.map { " at \($0) baud" } ?? ""))
                case .disconnectedCentral:
                    output.note("pumpctl: the module has disconnected its central")
                }
            },
            open: { rate throws(LinkError) in
                if endpoint.scheme == "serial" { TerminalSettings.save(ifAt: endpoint.address) }
                var place = endpoint
                if let rate { place.serial?.baudRate = rate }
                return try await opening(note: output.note).link(to: place, for: .oneCommand)
            })
        do throws(ModuleSetupError) { return try await body(setup) } catch { throw Failure(error, at: endpoint.text) }
    }

    /// Returns the port of the module's UART. The user must name the port, by `--port`, PUMPCTL_PORT or the
    /// configuration: another device may be at the only USB port.
    private func modulePort() throws -> Endpoint {
        guard let name = try PortChoice.named(options.port) else {
            throw Failure(
                .usage, code: "usage", "no port is named",
                hint: "name the port of the module's UART: --port /dev/ttyUSB0", outcome: "not_sent")
        }
        let endpoint = try Endpoint(name)
        guard endpoint.scheme != "ble" else {
            throw Failure(
                .usage, code: "usage", "\(name): a module accepts commands only at its UART, not over BLE",
                hint: "connect the module's UART to a USB adapter, and name the adapter's port", outcome: "not_sent")
        }
        return endpoint
    }
}
