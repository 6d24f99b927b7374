internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

// Transfers of a log or an image to the program.
extension ControlConnection {
    /// Reads the arguments of `transfer`.
    func newTransfer(_ id: JSONValue, _ arguments: inout ControlArguments) throws(ControlFailure) -> Transfer {
        let device = try device(arguments.text("device"))
        let name = try arguments.text("content")
        let content = device.row.content
        guard let content, content.name == name else {
            throw .usage(
                "\(device.settings.family.device) has no content '\(name)'", hint: content.map { "use: \($0.name)" })
        }
        return Transfer(id, of: content, from: device, clock: clock)
    }

    /// Fetches a content from its device, and sends it to the program. Returns the members of the response once the
    /// transfer has ended.
    ///
    /// After a transfer was cancelled, the device may still send the rest, which is dropped. Until the rest has ended,
    /// the transfer counts against the limit of transfers.
    func perform(_ transfer: Transfer, by sender: String) async throws(ControlFailure) -> [String: JSONValue] {
        // Checked here and not in newTransfer(_:_:): an earlier request with the ID may not have begun by then.
        guard !transfers.contains(where: { $0.id == transfer.id }) else {
            throw .usage("the transfer \(transfer.id.json) is under way", hint: "use another 'id'")
        }
        guard fetchCount < Self.requestLimit else {
            throw ControlFailure(
                "too_many_requests", "\(Self.requestLimit) transfers are under way",
                hint: "wait until one of them has ended", outcome: "not_sent")
        }
        transfers.append(transfer)
        defer { transfers.removeAll { $0 === transfer } }
        fetchCount += 1
        Task.immediate(executorPreference: loop) {
            await self.fetch(transfer, by: sender)
            self.fetchCount -= 1
        }
        return try await transfer.members()
    }

    /// Asks the device in its turn, and sends its reply to the program.
    private func fetch(_ transfer: Transfer, by sender: String) async {
        let asker = Asker {
            bytes, _ in
            transfer.take(bytes)
        } waitForRoom: {
            await self.deliver(transfer)
        } isThere: {
            self.assumeIsolated { $0.isThere } && !transfer.isOver
        }
        do throws(SharingError) {
            // The line is a query, which waits while a stop line is sent, and is sent after it.
            let line = ClientLine(Array(transfer.content.line.utf8), .query)
            try await transfer.device.request(line, by: sender, for: asker) { false }
            transfer.finish()
            await deliver(transfer, isLast: true)
            transfer.end(nil)
        } catch {
            await deliver(transfer, isLast: true)
            transfer.end(error)
        }
    }

    /// Sends received bytes as fast as the program reads them. The transfer of a program that reads nothing for
    /// ``patience`` is ended, because other programs wait for the device.
    ///
    /// - Parameter isLast: Whether the content has ended.
    private func deliver(_ transfer: Transfer, isLast: Bool = false) async {
        let isLast = isLast || transfer.hasFailed
        while transfer.hasEvents(isLast: isLast) {
            guard await waitForRoom(for: transfer) else {
                return transfer.giveUp(
                    "too_slow", "the program read nothing for \(Self.patience.inSeconds) s",
                    hint: "transfer the \(transfer.content.name) again, and read without pauses")
            }
            guard !transfer.isOver else { return }
            say(transfer.takeEvents())
        }
        if transfer.hasFailed { transfer.end(nil) }
    }

    /// Waits until the output queue has room, or the transfer has ended. Returns false if the program reads nothing for
    /// too long.
    private func waitForRoom(for transfer: Transfer) async -> Bool {
        while !transfer.isOver, !output.hasRoomForPiece {
            guard await output.takesSome(within: Self.patience, by: clock) else { return false }
        }
        return true
    }

    /// Cancels a transfer at the request of the program. Returns the members of the response.
    func cancelTransfer(_ id: JSONValue) throws(ControlFailure) -> [String: JSONValue] {
        guard let transfer = transfers.first(where: { $0.id == id && !$0.isOver }) else {
            throw ControlFailure(
                "no_such_transfer", "no transfer \(id.json) of this connection is under way",
                hint: "look for its response: it may have ended", outcome: "nothing_changed")
        }
        cancel(transfer)
        return ["bytes": .integer(transfer.byteCount)]
    }

    /// Ends all transfers, because the connection ends.
    func cancelTransfers() {
        for transfer in transfers { cancel(transfer) }
    }

    private func cancel(_ transfer: Transfer) {
        transfer.giveUp("cancelled", "the transfer was cancelled")
        output.wakeWaiters()
    }
}
