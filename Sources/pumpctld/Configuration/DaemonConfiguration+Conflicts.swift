import Sharing
import TOMLReading
import Transports

extension DaemonConfiguration {
    /// Rejects conflicting devices and shares, and TCP shares that other machines can reach unless the configuration
    /// allows them.
    ///
    /// - Parameters:
    ///   - place: The place of the daemon's settings, which the error names.
    ///   - http: The place of the page's settings, which the error names.
    func check(at place: ConfigurationPlace, http: ConfigurationPlace) throws(ConfigurationError) {
        try checkEndpoints()
        try checkShares(place, http.of(http == .commandLine ? "http" : "listen"))
        guard !daemon.allowsInsecureListening else { return }
        for device in devices {
            guard let share = device.shares.first(where: \.isExposed) else { continue }
            throw ConfigurationError(
                .insecure, self.place(of: device, place).of("tcp"),
                "\(share) is open to other machines without a password: anyone who reaches the port controls the device",
                hint: "give only a port number to share on loopback, or allow the share: "
                    + place.flag("insecure-listen"))
        }
    }

    /// Returns the place of a device's settings.
    ///
    /// - Parameter place: The place of the daemon's settings.
    private func place(of device: SharedDeviceSettings, _ place: ConfigurationPlace) -> ConfigurationPlace {
        place == .commandLine ? place : .table("device.\(device.name)")
    }

    /// Rejects two devices with the same endpoint. Different endpoints of the same device, such as `usb:1a86:7523` and
    /// `/dev/ttyUSB0`, are not noticed.
    private func checkEndpoints() throws(ConfigurationError) {
        var owners: [String: String] = [:]
        for device in devices {
            let endpoint = device.endpoint
            let isCaseless = ["usb", "ble"].contains(endpoint.scheme)
            let key = "\(endpoint.scheme):\(isCaseless ? endpoint.address.lowercased() : endpoint.address)"
            if let other = owners.updateValue(device.name, forKey: key) {
                throw ConfigurationError(
                    .conflict, "[device.\(device.name)] endpoint",
                    "'\(endpoint)' is already the endpoint of [device.\(other)]",
                    hint: "keep one of the two devices, with the shares of both")
            }
        }
    }

    /// Rejects two uses of one path or port, by shares, the control socket or the page.
    ///
    /// - Parameter page: The place of the page's address, which the error names.
    private func checkShares(_ place: ConfigurationPlace, _ page: String) throws(ConfigurationError) {
        var taken: [(claim: Claim, owner: String)] = []
        if let http { taken.append((Claim(http.address), page)) }
        if let socket = daemon.socket { taken.append((.path(socket), place.of("socket"))) }
        for device in devices {
            for share in device.shares {
                let (claim, owner) = (Claim(share), self.place(of: device, place).of(share.key))
                if let other = taken.first(where: { $0.claim.excludes(claim) }) {
                    throw ConfigurationError(
                        .conflict, owner, "'\(share)' is in use by \(other.owner)", hint: "choose another address")
                }
                taken.append((claim, owner))
            }
        }
    }

    /// A path or port that can be used only once.
    private enum Claim {
        case path(String)
        case port(UInt16, host: String)

        /// The addresses that mean every address of the machine.
        private static let everywhere = ["0.0.0.0", "::"]

        init(_ share: ShareAddress) {
            switch share {
            case .terminal(let path), .unix(let path): self = .path(path)
            case .tcp(let host, let port): self = .port(port, host: host == "localhost" ? "127.0.0.1" : host)
            }
        }

        func excludes(_ other: Claim) -> Bool {
            switch (self, other) {
            case (.path(let path), .path(let another)): path == another
            case (.port(let port, let host), .port(let another, let otherHost)):
                port == another
                    && (host == otherHost || Self.everywhere.contains(host) || Self.everywhere.contains(otherHost))
            case (.path, .port), (.port, .path): false
            }
        }
    }
}
