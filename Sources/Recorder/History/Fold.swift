internal import RecordFormat

/// Folds readings, in order of time, into series of values.
struct Fold {
    private struct Device: Hashable {
        var family: String
        /// The identity of the device; if unknown, its endpoint.
        var identity: String
    }

    private struct Session {
        var device: Device
        var endpoint: String
        var name: String?
    }

    /// The values that come in the same readings: those of a whole device, or of one of its parts.
    private struct Group {
        var names = ColumnNames()
        /// The index of each name's series.
        var series: [Int] = []
        var lastSession: Int64 = 0
        /// The number of the last reading with each name.
        var lastReadings: [Int] = []
        var readingCount = 0
    }

    private struct GroupKey: Hashable {
        var device: Device
        var part: String
    }

    /// The names of values that identify a part of a device.
    private static let partNames = ["pipe", "port", "point"].map { Array($0.utf8) }

    private let first: Int64
    private let span: Int64
    private let columns: Int64
    private var sessions: [Int64: Session] = [:]
    private var groups: [Group] = []
    private var groupIndices: [GroupKey: Int] = [:]
    /// The groups of values that belong to no part, by session.
    private var wholeGroups: [Int64: Int] = [:]
    private var folders: [SeriesFolder] = []

    init(_ times: ClosedRange<Int64>, columns: Int) {
        first = times.lowerBound
        span = max(1, times.upperBound - times.lowerBound)
        self.columns = Int64(max(1, columns))
    }

    var series: [FoldedSeries] { folders.map(\.result) }

    mutating func addSession(_ id: Int64, family: String, endpoint: String, device: String?) {
        sessions[id] = Session(
            device: Device(family: family, identity: device ?? endpoint), endpoint: endpoint, name: device)
    }

    /// Adds a reading of a session. If the previous reading of the same part lacked a value, or came in another
    /// session, the line of that value is interrupted before this reading.
    mutating func add(_ reading: String, _ milliseconds: Int64, _ sessionID: Int64) {
        guard let session = sessions[sessionID] else { return }
        let members = Array(ReadingMembers(reading.utf8))
        let group = group(of: members, sessionID, session)
        let isSameSession = groups[group].lastSession == sessionID
        groups[group].lastSession = sessionID
        groups[group].readingCount += 1
        groups[group].names.beginReading()
        let count = groups[group].readingCount
        let column = Int(Double(milliseconds - first) / Double(span) * Double(columns))
        for member in members {
            guard let value = JSONNumber.value(member.json), !Self.partNames.contains(where: member.name.elementsEqual)
            else { continue }
            let index = groups[group].names.index(of: member.name)
            if index == groups[group].series.count {
                groups[group].series.append(folders.count)
                groups[group].lastReadings.append(0)
                folders.append(SeriesFolder(newSeries(member.name, members, session)))
            }
            let series = groups[group].series[index]
            let isFirst = !isSameSession || groups[group].lastReadings[index] != count - 1
            groups[group].lastReadings[index] = count
            let point = FoldedSeries.Point(
                time: RecordTime(milliseconds: milliseconds), value: value, isFirst: isFirst)
            folders[series].add(point, column: min(column, Int(columns) - 1), endpoint: session.endpoint)
        }
    }

    private mutating func group(
        of members: [ReadingMembers.Member], _ id: Int64, _ session: Session
    ) -> Int {
        let hasParts = members.contains { member in Self.partNames.contains(where: member.name.elementsEqual) }
        if !hasParts, let group = wholeGroups[id] { return group }
        let key = GroupKey(device: session.device, part: hasParts ? Self.part(members) : "")
        let group = groupIndices[key] ?? groups.count
        if group == groups.count {
            groups.append(Group())
            groupIndices[key] = group
        }
        if !hasParts { wholeGroups[id] = group }
        return group
    }

    private func newSeries(
        _ name: ArraySlice<UInt8>, _ members: [ReadingMembers.Member], _ session: Session
    ) -> FoldedSeries {
        let text = String(decoding: name, as: UTF8.self)
        return FoldedSeries(
            family: session.device.family, endpoint: session.endpoint, device: session.name, part: Self.part(members),
            name: JSONText.unquoted("\"\(text)\"") ?? text, points: [])
    }

    /// Returns the part that a reading belongs to, such as `pipe 1 port 2 point 3`.
    private static func part(_ members: [ReadingMembers.Member]) -> String {
        members.filter { member in partNames.contains(where: member.name.elementsEqual) }
            .map { member in
                let value = Substring(decoding: member.json, as: UTF8.self)
                return String(decoding: member.name, as: UTF8.self) + " " + (JSONText.unquoted(value) ?? String(value))
            }
            .joined(separator: " ")
    }
}

/// A series under construction, with the lowest and highest point of the current column.
private struct SeriesFolder {
    private var series: FoldedSeries
    private var column = -1
    private var low: FoldedSeries.Point?
    private var high: FoldedSeries.Point?
    private var isFirst = false

    init(_ series: FoldedSeries) { self.series = series }

    var result: FoldedSeries {
        var copy = self
        copy.finishColumn()
        return copy.series
    }

    mutating func add(_ point: FoldedSeries.Point, column: Int, endpoint: String) {
        if series.endpoint != endpoint { series.endpoint = endpoint }
        if column != self.column {
            finishColumn()
            self.column = column
            (low, high, isFirst) = (point, point, point.isFirst)
            return
        }
        // A gap within a column is invisible; only a gap at its beginning counts.
        if let low, point.value < low.value { self.low = point }
        if let high, point.value > high.value { self.high = point }
    }

    private mutating func finishColumn() {
        guard let low, let high else { return }
        var points = low == high ? [low] : [low, high].sorted { $0.time < $1.time }
        for index in points.indices { points[index].isFirst = index == 0 && isFirst }
        series.points += points
        (self.low, self.high) = (nil, nil)
    }
}
